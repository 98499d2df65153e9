# bash: completes the words behind lockbench: it asks the program for its commands, their options,
# and the names that it knows. In zsh: autoload -U bashcompinit, bashcompinit, then source this file.

# The names of locks, backends and workloads, and "SECTION.KEY=" of each key of a workload: asked once a shell.
_lockbench_ask() {
    _lockbench_names=$("$1" list 2>/dev/null | sed -n '2,/^  faults/{/^  controls/d; /^  faults/d; s/(not here)//; p;}'
        "$1" list controls 2>/dev/null | sed -n 's/^\([a-z-]*\): .*/\1/p')
    _lockbench_keys=$("$1" list --keys 2>/dev/null |
        sed -n 's/^\[\([a-z]*\)\]$/h \1/p; s/^  \([a-z_]\{1,\}\)  .*/k \1/p' |
        while read -r kind word; do
            if [[ $kind == h ]]; then section=$word; else echo "$section.$word="; fi
        done)
}

_lockbench() {
    local program=$1 line=${COMP_LINE:0:COMP_POINT} words word before kept offer offers="" files=
    read -ra words <<<"$line"
    [[ $line != *[[:blank:]] ]] || words+=("")
    [[ ${#words[@]} -gt 1 ]] || return
    word=${words[${#words[@]} - 1]} before=${words[${#words[@]} - 2]}
    kept=${word%"${word##*[=:]}"} # bash replaces what stands behind the last = or :
    [[ $word != --*=* ]] || before=${word%%=*} word=${word#*=}
    [[ $before != --set && $before != --against-set ]] || kept=
    COMPREPLY=()
    case ${#words[@]}:$before:$word in
    2:*) offers="$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p') help --help --version" ;;
    *:help:*) offers=$("$program" --help | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p') ;;
    *:--out:* | *:--against:* | *:--file:*) files=yes ;;
    *:-*:-* | *:*:-*) offers=$("$program" "${words[1]}" --help 2>/dev/null | sed -n 's/^  -[a-z], /  /; s/^  \(--[a-z-]*\).*/\1/p') ;;
    *)
        [[ -n ${_lockbench_names-} ]] || _lockbench_ask "$program"
        case $before in
        --set | --against-set) offers=$_lockbench_keys ;;
        *) offers=$_lockbench_names files=yes ;;
        esac
        ;;
    esac
    local list=${word%"${word##*,}"} # of a list with commas only the last word is completed
    while IFS= read -r offer; do
        [[ $offer != *= ]] || compopt -o nospace 2>/dev/null
        COMPREPLY+=("$list$offer")
    done < <(compgen -W "$offers" -- "${word#"$list"}")
    [[ -z $files ]] || while IFS= read -r offer; do COMPREPLY+=("$offer"); done < <(compgen -f -- "${word#"$kept"}")
}
complete -F _lockbench lockbench
