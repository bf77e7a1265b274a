# Outlives the server and ends its commands when it no longer can: standard input closes when the server dies, however it dies.
# It is told of process groups ("+ GROUP", "- GROUP"); $1 is what the environment of every command holds, which also finds those
# that were started in the last moment and those that left their group (Linux).
trap '' INT TERM HUP QUIT USR1 USR2 TSTP ALRM

groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="${groups%%" $group "*} ${groups#*" $group "}" ;; esac ;;
  esac
done

for group in $groups; do kill -KILL -"$group" 2>/dev/null; done

for round in 1 2 3 4 5; do
  marked=$(PATH=/usr/bin:/bin grep -l -s -a -F -e "$1" /proc/[0-9]*/environ 2>/dev/null)
  [ "$marked" ] || break
  for path in $marked; do
    path=${path#/proc/}
    kill -KILL "${path%/environ}" 2>/dev/null
  done
done
