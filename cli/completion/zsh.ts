// Completion in zsh: for a folder of fpath, or sourced after compinit.

/** For zsh 5. Nothing of the line is evaluated. */
export const ZSH = `#compdef ipgate
# zsh completion for ipgate, made by: ipgate completion zsh

_ipgate() {
    local -a earlier answer items
    local line
    (( CURRENT > 2 )) && earlier=("\${(@Q)words[2,CURRENT-1]}")
    answer=("\${(@f)$(command ipgate complete zsh -- "\${earlier[@]}" "\${(Q)PREFIX}" 2>/dev/null)}")
    case $answer[1] in
        files) compset -P '--*='; _files; return ;;
        directories) compset -P '--*='; _files -/; return ;;
    esac
    # _describe divides a candidate from its description at the first colon without a backslash.
    for line in "\${(@)answer[2,-1]}"; do
        if [[ $line == *$'\\t'* ]]; then
            items+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${\${line#*$'\\t'}//\\\\/\\\\\\\\}")
        elif [[ -n $line ]]; then
            items+=("\${line//:/\\\\:}")
        fi
    done
    if [[ $answer[1] == partial ]]; then
        _describe ipgate items -S ''
    else
        _describe ipgate items
    fi
}

if [[ $funcstack[1] == _ipgate ]]; then
    _ipgate "$@"
else
    compdef _ipgate ipgate
fi
`
