// Completion in fish.

/** For fish 3. Nothing of the line is evaluated. */
export const FISH = `# fish completion for ipgate, made by: ipgate completion fish

function __ipgate_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l answer (command ipgate complete fish -- $words "$current" 2>/dev/null)
    set -l kind "$answer[1]"
    set -e answer[1]
    set -l option (string match -r -- '^--[a-z-]+=' "$current")
    set -l path (string replace -r -- '^--[a-z-]+=' '' "$current")
    switch $kind
        case files
            printf '%s\\n' "$option"(__fish_complete_path "$path")
        case directories
            printf '%s\\n' "$option"(__fish_complete_directories "$path" '')
        case words partial
            test (count $answer) -gt 0; and printf '%s\\n' $answer
    end
end

complete -c ipgate -e
complete -c ipgate -f -k -a '(__ipgate_complete)'
`
