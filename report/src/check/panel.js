// panel: one cell's evidence at a time, in a dialog: the dialog borrows the cell's article. The URL's hash names the open
// cell.

export function makePanel(section, state) {
  const cells = section.querySelector('.cells');
  const dialog = document.createElement('dialog');
  const bar = document.createElement('p');
  const close = document.createElement('button');
  const place = document.createElement('div');
  let home = null;
  dialog.className = 'panel';
  bar.className = 'bar';
  close.type = 'button';
  close.textContent = 'Close';
  close.addEventListener('click', () => dialog.close());
  bar.append(close);
  dialog.append(bar, place);
  section.append(dialog);
  cells.hidden = true;
  section.querySelector('.hint').hidden = false;

  // A click on the backdrop is an event of the dialog itself.
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener('close', () => {
    if (dialog.open) return; // this event came late: another cell is open by now
    giveBack();
    state.set('cell', '');
  });

  function giveBack() {
    if (home) home.replaceWith(place.firstElementChild);
    home = null;
  }

  function open(id) {
    const article = document.getElementById(id);
    if (!article || !section.contains(article)) return;
    giveBack();
    home = document.createComment(id);
    article.replaceWith(home);
    place.append(article);
    dialog.setAttribute('aria-labelledby', `${id}-title`);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    state.set('cell', id.replace('cell-', ''));
  }

  // A link to a cell, with the script or without it.
  const linked = /^#(cell-\d+)/.exec(location.hash)?.[1] ?? (state.get('cell', '') && `cell-${state.get('cell', '')}`);
  if (linked) open(linked);
  addEventListener('beforeprint', () => { cells.hidden = false; });
  addEventListener('afterprint', () => { cells.hidden = true; });
  return { open };
}
