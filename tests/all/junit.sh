#!/bin/sh
# tests/e2e/junit.sh with xmllint (libxml2-utils), a validator that is not ours.
command -v xmllint >/dev/null || {
  echo "skipped: libxml2-utils is not installed"
  exit 77
}
exec sh tests/e2e/junit.sh
