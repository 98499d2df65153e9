# bash: completes the words behind lockbench and lockbench-hosts, by asking the program itself: lockbench --complete.
_lockbench() {
    local words line word="" kept
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
    [[ ${COMP_LINE:0:COMP_POINT} != *[[:blank:]] ]] || words+=("")
    [[ ${#words[@]} -gt 1 ]] || return
    word=${words[${#words[@]} - 1]}
    kept=${word%"${word##*[=:]}"} # bash replaces what stands behind the last = or :
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${word#"$kept"}")
        else
            line=${line%%$'\t'*}
            [[ $line != *= ]] || compopt -o nospace 2>/dev/null
            COMPREPLY+=("${line#"$kept"}")
        fi
    done < <("$1" --complete "${words[@]:1}" 2>/dev/null)
}
complete -F _lockbench lockbench lockbench-hosts
