# Prints the kernel, and for each tier of memory its node and its size.
uname -srm
cd /sys/devices/virtual/memory_tiering || exit
for tier in memory_tier*; do
  node=$(cat "$tier"/nodelist)
  kib=$(awk '/MemTotal/ {print $4}' /sys/devices/system/node/node"$node"/meminfo)
  echo "$tier: node $node, $((kib / 1024)) MiB"
done
