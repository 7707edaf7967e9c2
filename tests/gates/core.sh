#!/bin/sh
# What the objects of core prove about it: physics on preallocated memory, and nothing else.
#
#   tests/gates/core.sh LIBCORE [ARCH]
#
# 1. Undefined symbols are libm's, mem*, str* or an assert's, and ERFA's in sky.o: no heap, stdio, lock, clock or file.
#    ERFA's objects in their turn refer to libm and themselves alone, where its archive is installed.
# 2. No writable data at file scope.
# 3. On x86-64-v3, products and sums are contracted: there are FMA instructions.
set -eu
lib=$1
arch=${2:-x86-64-v3}
wrong=0
[ -r "$lib" ] || { echo "there is no $lib"; exit 1; }

defined=$(nm --defined-only "$lib" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
undefined=$(nm -A --undefined-only "$lib" 2>/dev/null | awk '{ sub(/:[[:space:]]*$/, "", $1); print $NF, $1 }')
allowed='^(a?(sin|cos|tan)h?|atan2|sincos|exp|exp2|expm1|log|log2|log10|log1p|pow|sqrt|cbrt|hypot|fabs|fma|fmax|fmin|fmod'
allowed="$allowed|remainder|floor|ceil|round|trunc|rint|nearbyint|lround|llround|lrint|llrint|ldexp|frexp|scalbn|modf|copysign"
allowed="$allowed|erf|erfc|nextafter|nan|isnan|isinf|__isnan|__isinf|__finite|__signbit|__fpclassify"
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

objects=$(ar t "$lib" | wc -l)
if [ "$objects" -gt 0 ] && [ "$arch" = x86-64-v3 ] && ! objdump -d "$lib" | grep -q 'vfn\{0,1\}m\(add\|sub\)'; then
  echo "$lib has no fused multiply-add: is -ffp-contract=fast among the flags?"
  wrong=1
fi
exit $wrong
