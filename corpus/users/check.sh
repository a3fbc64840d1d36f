#!/usr/bin/env bash
# Compiles every kernel here with NVRTC and, where a file has a `check:` line, runs that launch: a file with a bug must show one, any other
# file none. Says what each answer was; the exit status is 1 if one is not as it should be.
#
#   corpus/users/check.sh [NAME…]        WARPPROOF names the program, if it is not on the path
set -uo pipefail
cd "$(dirname "$0")"
program=${WARPPROOF:-warpproof}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r ./*.h include "$scratch"
failed=0
for file in ${@:-*.cu}; do
  expect=$(sed -n '1s|^// expect: ||p' "$file")
  copy=$scratch/$file
  : > "$copy"
  # GPUVerify's words need a definition; lines stay as they are.
  if grep -q '^// prelude: gpuverify' "$file"; then printf '#include "gpuverify.h"\n#line 1\n' > "$copy"; fi
  cat "$file" >> "$copy"
  if ! "$program" inspect "$copy" -I "$scratch/include" > "$scratch/log" 2>&1; then
    echo "$file: does not compile"; head -5 "$scratch/log"; failed=1; continue
  fi
  launch=$(sed -n 's|^// check: ||p' "$file")
  [ -z "$launch" ] && { echo "$file: compiles ($expect)"; continue; }
  kernel=$(sed -n 's|.*--kernel \([A-Za-z0-9_]*\).*|\1|p' <<< "$launch")
  launch=$(sed 's|--kernel [A-Za-z0-9_]*||' <<< "$launch")
  "$program" check "$copy${kernel:+::$kernel}" $launch -I "$scratch/include" > "$scratch/log" 2>&1
  status=$?
  case "$expect:$status" in
    refuted*:1 | proved*:0) echo "$file: $expect, as checked" ;;
    *:2) echo "$file: $expect, but the launch is not accepted"; grep -m3 error "$scratch/log"; failed=1 ;;
    *:3) echo "$file: $expect, but not checked: $(grep -m1 -E 'unsupported|unknown|open' "$scratch/log")" ;;
    *) echo "$file: $expect, but check says $status"; grep -m2 -A4 error "$scratch/log"; failed=1 ;;
  esac
done
exit $failed
