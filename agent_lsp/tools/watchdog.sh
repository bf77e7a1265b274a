# Outlives the server: told of process groups on standard input ("+ GROUP", "- GROUP"), it kills those that are left when the
# pipe closes, which a server that is killed cannot prevent. Builtins only: nothing is forked, so nothing can fail to start.
trap '' INT TERM HUP QUIT USR1 USR2 TSTP ALRM

groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
  esac
done

# Members of the groups, and their descendants that moved to a group of their own (Linux only).
table=
for stat in /proc/[0-9]*/stat; do
  { read -r line <"$stat"; } 2>/dev/null || continue
  pid=${line%% *}
  set -- ${line##*) }
  table="$table $pid:$2:$3"
done
doomed=' '
found=yes
while [ "$found" ]; do
  found=
  for entry in $table; do
    pid=${entry%%:*} group=${entry##*:} parent=${entry#*:} parent=${parent%:*}
    case $doomed in *" $pid "*) continue ;; esac
    case $groups$doomed in *" $group "* | *" $parent "*) doomed="$doomed$pid " found=yes ;; esac
  done
done

for group in $groups; do kill -KILL -"$group" 2>/dev/null; done
for pid in $doomed; do kill -KILL "$pid" 2>/dev/null; done
