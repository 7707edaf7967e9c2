#!/bin/sh
# What the objects of core prove about it: physics on preallocated memory, and nothing else.
#
#   tests/gates/core.sh LIBCORE
#
# 1. Undefined symbols are mem*, str*, an assert's, ERFA's in sky.o, and of libm the four that IEEE 754 rounds in one
#    way: no heap, stdio, lock, clock or file, and no function whose last bits are the C library's. ERFA's objects in
#    their turn refer to libm and themselves alone, where its archive is installed.
# 2. No writable data at file scope.
# 3. Products and sums are fused where the source says so and nowhere else: no vfmaddsub, which
#    gcc 12 makes of separate ones.
set -eu
lib=$1
wrong=0
[ -r "$lib" ] || { echo "there is no $lib"; exit 1; }

defined=$(nm --defined-only "$lib" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
undefined=$(nm -A --undefined-only "$lib" 2>/dev/null | awk '{ sub(/:[[:space:]]*$/, "", $1); print $NF, $1 }')
allowed='^(sqrt|floor|rint|fma'
allowed="$allowed|mem(cpy|move|set|cmp|chr)|str(len|nlen|cmp|ncmp|cpy|ncpy|chr|rchr|str)"
allowed="$allowed|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)\$"
outside=$(printf '%s\n' "$undefined" | awk -v own="$defined" -v allowed="$allowed" '
  BEGIN { n = split(own, names, "\n"); for (i = 1; i <= n; i++) mine[names[i]] = 1 }
  NF && !($1 in mine) && $1 !~ allowed && !($1 ~ /^era[A-Z]/ && $2 ~ /[:(]sky\.o[:)]*/) { print $2 " refers to " $1 }')
if [ -n "$outside" ]; then
  printf '%s\n' "$outside"
  wrong=1
fi

state=$(objdump -t "$lib" 2>/dev/null | awk '
  /file format/ { file = $1; sub(/:$/, "", file) }
  / d  \./ { next } # the sections themselves
  /[ \t](\.data|\.bss|\.tdata|\.tbss|\.data\.[^r][^ \t]*|\.bss\.[^ \t]*|\*COM\*)\t/ { print file " has writable data " $NF }
')
if [ -n "$state" ]; then
  printf '%s\n' "$state"
  wrong=1
fi

fused=$(objdump -d "$lib" | awk '/file format/ { file = $1 } /vfm(addsub|subadd)/ { print file; nextfile }' | sort -u)
if [ -n "$fused" ]; then
  printf '%s has vfmaddsub: has the compiler fused what the source does not?\n' "$fused"
  wrong=1
fi
exit $wrong
