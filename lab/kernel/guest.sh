# Functions for the shell of the virtual machine (busybox). A check that fails ends the script.
set -u

batch=/proc/sys/vm/pageout_flush_batch

fail() {
  echo "FAILED: $*"
  exit 1
}

# Makes zram, the virtio disk, or zswap before the disk the only swap.
swap_on() {
  case $1 in
    zram) device=/dev/zram0; echo 160M >/sys/block/zram0/disksize ;;
    *) device=/dev/vda ;;
  esac
  if [ "$1" = zswap ]; then
    echo lz4 >/sys/module/zswap/parameters/compressor
    echo zsmalloc >/sys/module/zswap/parameters/zpool
    echo 5 >/sys/module/zswap/parameters/max_pool_percent
    echo Y >/sys/module/zswap/parameters/enabled
  fi
  mkswap $device >/dev/null && swapon $device || fail "no swap on $1"
}

swap_off() {
  swapoff $device || fail "swapoff $device"
  echo N >/sys/module/zswap/parameters/enabled
  [ $device != /dev/zram0 ] || echo 1 >/sys/block/zram0/reset
}

# group NAME LIMIT SWAP_LIMIT COMMAND...: runs a command in a control group of its own. Memory of
# zswap counts to the limit, so that it is bounded: it does not compress the tests' random words.
group() {
  local name=$1 status
  mkdir -p /sys/fs/cgroup/$name
  echo $2 >/sys/fs/cgroup/$name/memory.max
  echo $3 >/sys/fs/cgroup/$name/memory.swap.max
  echo 4M >/sys/fs/cgroup/$name/memory.zswap.max
  shift 3
  (echo 0 >/sys/fs/cgroup/$name/cgroup.procs; exec "$@")
  status=$?
  sleep 1
  rmdir /sys/fs/cgroup/$name
  return $status
}

prepare() {
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control || fail "no control group for memory"
  echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
  mkdir -p /ballast && mount -t ramfs ballast /ballast
}

# Leaves about $1 MiB of the machine's memory, by files that cannot be paged out.
leave_mib() {
  available=$(awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo)
  dd if=/dev/zero of=/ballast/file bs=1M count=$((available - $1)) 2>/dev/null
}

leave_all() {
  rm -f /ballast/file
}

# Pages out $1 MiB with each setting by turns, $2 times, and prints a line each time: on request of
# the process, of each kind of memory, to each kind of swap.
measure_requests() {
  for swap in zram disk; do
    swap_on $swap
    for kind in anon shmem huge; do
      for setting in $(yes '0 1' | head -n $2); do
        echo $setting >$batch
        echo -n "way=madvise swap=$swap batch=$setting "
        pageout $kind $1 || fail "contents differ"
      done
    done
    swap_off
  done
}

# The same by reclaim of a control group, with classic lists (0) and with MGLRU (7).
measure_lists() {
  swap_on zram
  for lists in 0 7; do
    echo $lists >/sys/kernel/mm/lru_gen/enabled
    for setting in $(yes '0 1' | head -n $2); do
      echo $setting >$batch
      echo -n "way=reclaim-lists$lists swap=zram batch=$setting "
      group measured max max pageout anon $1 /sys/fs/cgroup/measured/memory.reclaim ||
        fail "contents differ"
    done
  done
  swap_off
}

measure() {
  prepare
  measure_requests $1 $2
  measure_lists $1 $2
}

# check NAME COMMAND...: a stress that has to succeed; says how many pages waited for a flush.
check() {
  local name=$1 before after
  shift
  before=$(awk '/^pageout_deferred / {print $2}' /proc/vmstat)
  echo "check=$name"
  "$@" || fail "$name"
  after=$(awk '/^pageout_deferred / {print $2}' /proc/vmstat)
  echo "check=$name deferred=$((after - before))"
}

# A process that is killed for want of memory, and one beside it that must lose nothing.
kill_one() {
  local bystander
  stress anon 8 $1 &
  bystander=$!
  echo -1000 >/proc/$bystander/oom_score_adj
  shift
  "$@" >/dev/null
  [ $? = 137 ] || fail "the process beyond the limit was not killed"
  wait $bystander
}

swap_comes_and_goes() {
  local running
  stress anon 16 $1 &
  running=$!
  while kill -0 $running 2>/dev/null; do
    swapoff $device && swapon $device
  done
  wait $running
}

# Threads write to memory of each kind that is paged out to each of the swaps, for $1 seconds each.
pressure_kinds() {
  local seconds=$1
  shift
  for swap in "$@"; do
    swap_on $swap
    for kind in anon shmem huge; do
      check "$swap-$kind-batch$(cat $batch)" group limited 12M max stress $kind 24 $seconds
    done
    swap_off
  done
}

# The same beside what may meet a page that waits for its flush.
pressure_ways() {
  swap_on zram
  echo always >/sys/kernel/mm/transparent_hugepage/shmem_enabled
  check "huge-shmem" group limited 12M max stress shmem 24 $1
  echo never >/sys/kernel/mm/transparent_hugepage/shmem_enabled
  check "fork" group limited 24M max stress fork 24 $1
  check "mlock" group limited 12M max stress mlock 24 $1
  check "move" move $1
  check "swapoff" swap_comes_and_goes $1
  echo 0 >/sys/kernel/mm/lru_gen/enabled
  check "classic-lists" group limited 12M max stress anon 24 $1
  # In 12 or 16 MiB the kernel kills the writers, with the series and without it.
  check "classic-lists-shmem" group limited 20M max stress shmem 24 $1
  echo 7 >/sys/kernel/mm/lru_gen/enabled
  check "group-oom" kill_one $1 group victim 8M 4M stress anon 64 60
  leave_mib 32
  check "whole-machine" stress anon 48 $1
  swap_off
  check "oom" kill_one $1 stress anon 96 60
  leave_all
}

pressure() {
  prepare
  echo 1 >$batch
  pressure_kinds $1 zram disk zswap
  pressure_ways $1
  echo 0 >$batch
  pressure_kinds $1 zram
}
