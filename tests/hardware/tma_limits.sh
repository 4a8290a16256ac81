#!/usr/bin/env bash
# Measures what TMA takes on the GPU at hand and writes the table that tests/hardware/test_tma_limits.py reads.
# usage: tests/hardware/tma_limits.sh OUTPUT.csv    needs nvcc, and a chip of sm_90 or later
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -std=c++17 -arch=sm_90a -o "$work/tma_limits" "$here/tma_limits.cu"
{
    for inner in 16 32 64 128; do # bases, in every mode whose span holds the row
        for mode in 0 1 2 3; do
            [ $mode -eq 0 ] || [ $inner -le $((16 << mode)) ] || continue
            for base in 0 16 32 48 64 80 96 112 128 144 192 256 320 384 512 640 1008 1024 1040 2048; do
                echo $mode $inner 8 $base
            done
        done
    done
    for inner in 1 8 15 16 24 40 48 64 240 256 257 272; do echo 0 $inner 8 0; done # bytes of a row
    for mode in 1 2 3; do for inner in 16 32 48 64 96 128 144 256; do echo $mode $inner 8 0; done; done
    for rows in 1 2 255 256 257 512; do echo 0 64 $rows 0; done # extent of the box
} >"$work/cases"
echo mode,inner_bytes,rows,base,driver,load >"$work/table"
xargs -P 8 -L 1 "$work/tma_limits" <"$work/cases" >"$work/rows"
sort -t, -u -k1,1 -k2,2n -k3,3n -k4,4n "$work/rows" >>"$work/table"
cp "$work/table" "$1"
