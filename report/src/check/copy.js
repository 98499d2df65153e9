// copy: a button beside a command that puts it on the clipboard, also on a page that was opened from a file.

function copyOld(text) {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}

export function makeCopyable(pre) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy the command');
  button.addEventListener('click', async () => {
    button.textContent = (await copy(pre.querySelector('code').textContent)) ? 'Copied' : 'Select it by hand';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  pre.append(button);
}
