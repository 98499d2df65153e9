#!/bin/sh
# Makes OUT/bundle.js and OUT/licences.txt: the chart code of a run's page in one file, and the licences of what is in
# it.
# It never stops a build: without node or the registry both are empty and the page has tables only; in CI it fails.
set -eu
out=$1
here=$(dirname "$0")
mkdir -p "$out"

give_up() {
    echo "report: $1: the HTML report will have its tables but no charts ($2)" >&2
    [ "${CI:-false}" = false ] || exit 1
    for file in licences.txt bundle.js; do
        [ ! -s "$out/$file" ] || rm "$out/$file"
        # An old date: what is made from it is not made again, and the next make tries again.
        [ -e "$out/$file" ] || touch -d '2000-01-01' "$out/$file"
    done
    exit 0
}

command -v node >/dev/null && command -v npm >/dev/null || give_up "no node or npm here" "install nodejs and npm, then make"

# npm leaves a copy of the lock file's content in node_modules when it is done.
installed=$here/node_modules/.package-lock.json
failed=$out/npm-failed
if [ ! -e "$installed" ] || [ "$here/package-lock.json" -nt "$installed" ]; then
    # Without a network npm would wait at every make: a failure counts for an hour, except in CI.
    if [ "${CI:-false}" = false ] && [ -n "$(find "$failed" -newer "$here/package-lock.json" -mmin -60 2>/dev/null)" ]; then
        give_up "npm ci failed within the last hour" "rm $failed, then make, to try again"
    fi
    # A build may have no home, or one that it can't write to.
    cache=${npm_config_cache:-${HOME:+$HOME/.npm}}
    if [ -z "$cache" ] || ! mkdir -p "$cache" 2>/dev/null || [ ! -w "$cache" ]; then
        mkdir -p "$out/npm-cache"
        npm_config_cache=$(cd "$out/npm-cache" && pwd)
        export npm_config_cache
    fi
    echo "report: fetching the charts' code with npm" >&2
    if ! (cd "$here" && npm ci --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=1000 \
        --fetch-retry-maxtimeout=3000 --fetch-timeout=20000 >/dev/null); then
        touch "$failed"
        give_up "npm ci failed" "see above"
    fi
    rm -rf "$failed" "$out/npm-cache"
    touch "$installed"
fi

modules=$here/node_modules
# The page holds the code in a script element, which ends at this text wherever it stands.
bundle() { # from src, name
    "$modules/.bin/esbuild" "$here/src/$1" --bundle --minify --format=iife --target=es2020 --charset=utf8 \
        --legal-comments=none --log-level=warning --outfile="$out/$2.new" || give_up "esbuild failed" "see above"
    sed 's#</script#<\\/script#g' "$out/$2.new" >"$out/$2.safe"
    rm "$out/$2.new"
}
bundle main.js bundle.js
# The charts' library is large: the page carries it packed, and the browser unpacks it.
{
    printf '(async()=>{const packed=Uint8Array.from(atob("'
    gzip -9nc "$out/bundle.js.safe" | base64 | tr -d '\n'
    printf '"),(c)=>c.charCodeAt(0));'
    printf '(0,eval)(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text());})();'
} >"$out/packed" && mv "$out/packed" "$out/bundle.js.safe"
for file in echarts/LICENSE echarts/NOTICE zrender/LICENSE tslib/LICENSE.txt hdr-histogram-js/LICENSE pako/LICENSE base64-js/LICENSE; do
    printf '==== %s\n\n' "$file"
    cat "$modules/$file"
    printf '\n'
done >"$out/licences.txt.new"
mv "$out/licences.txt.new" "$out/licences.txt"
mv "$out/bundle.js.safe" "$out/bundle.js"
