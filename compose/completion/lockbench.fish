# fish: completes the words behind lockbench and lockbench-hosts, by asking the program itself: lockbench --complete.
function __lockbench_words
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c lockbench -c lockbench-hosts -f -a '(__lockbench_words)'
