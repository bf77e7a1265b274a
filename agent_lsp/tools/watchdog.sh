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

# A process that is just turning into another program has no environment for a moment, and one that is found may just have
# started another: nothing is left when three looks in a row find nothing.
PATH=/usr/bin:/bin
quiet=0
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  marked=$(grep -l -s -a -F -e "$1" /proc/[0-9]*/environ 2>/dev/null)
  if [ "$marked" ]; then quiet=0; else quiet=$((quiet + 1)); fi
  [ "$quiet" = 3 ] && break
  for path in $marked; do
    path=${path#/proc/}
    kill -KILL "${path%/environ}" 2>/dev/null
  done
  sleep 0.02
done
