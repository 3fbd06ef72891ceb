// Completion in bash, with or without the package bash-completion.

/** For bash 4.4 and newer. Nothing of the line is evaluated. */
export const BASH = `# bash completion for ipgate, made by: ipgate completion bash

_ipgate() {
    local rest=\${COMP_LINE:0:COMP_POINT} next word current head breaks="" output i
    local -a words=() answer=()
    # Bash divides words at colons and equals signs too. What no space divides is one word here: an IPv6 address.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        next=\${rest#"\${rest%%[![:space:]]*}"}
        word=\${COMP_WORDS[i]}
        # The cursor stands inside of this word.
        if [[ $next != "$word"* ]]; then word=$next; fi
        if ((i == 0)) || [[ $next != "$rest" ]]; then words+=("$word"); else words[-1]+=$word; fi
        rest=\${next#"$word"}
    done
    current=\${words[-1]}
    output=$(command ipgate complete bash -- "\${words[@]:1}" 2>/dev/null)
    mapfile -t answer <<<"$output"
    COMPREPLY=("\${answer[@]:1}")
    case \${answer[0]} in
        files) compopt -o default ;;
        directories) compopt -o dirnames ;;
        partial) compopt -o nospace ;;
    esac
    # Readline puts a candidate in the place of what stands behind the last colon, unless that colon is quoted.
    if [[ $current != *[\\"\\'\\\\]* ]]; then
        if [[ $COMP_WORDBREAKS == *:* ]]; then breaks+=:; fi
        if [[ $COMP_WORDBREAKS == *=* ]]; then breaks+==; fi
        if [[ -n $breaks ]]; then
            head=\${current%"\${current##*[$breaks]}"}
            COMPREPLY=("\${COMPREPLY[@]#"$head"}")
        fi
    fi
}

complete -F _ipgate ipgate
`
