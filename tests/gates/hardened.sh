#!/bin/sh
# The programs are built hard: addresses at random (PIE), no writable table of addresses (RELRO with BIND_NOW), no
# executable stack, canaries on the stack, checked copies (FORTIFY).
#
#   tests/gates/hardened.sh PROGRAM...
#
# A program that copies nothing has no checked copy: it is let through where it has no unchecked one either.
set -eu
for program in "$@"; do
  lacks() { echo "$program lacks $1"; }
  headers=$(readelf -W -h -l -d "$program")
  symbols=$(readelf -W --dyn-syms "$program" | awk '{ print $8 }' | sed 's/@.*//')
  has() { printf '%s\n' "$headers" | grep -Eq "$1"; }
  uses() { printf '%s\n' "$symbols" | grep -Exq "$1"; }
  has 'Type: +DYN' || lacks 'PIE'
  has 'GNU_RELRO' || lacks 'RELRO'
  has '\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW' || lacks 'BIND_NOW'
  has 'GNU_STACK.* RW ' || lacks 'a stack that is not executable'
  uses '__stack_chk_fail' || lacks 'canaries'
  uses '__[a-z]*_chk' || ! uses 'memcpy|strcpy|sprintf|snprintf|printf|fprintf' || lacks 'checked copies'
done | { ! grep . ; }
