#!/bin/sh
# Tests for convert.sh. Exits with the number of failures.
cd "$(dirname "$0")" || exit 2
. ./convert.sh

failures=0

expect() {
    if [ "$2" = "$3" ]; then
        echo "ok      $1 = $3"
    else
        echo "FAILED  $1: expected $2, got $3"
        failures=$((failures + 1))
    fi
}

expect "0 C in F" 32 "$(celsius_to_fahrenheit 0)"
expect "100 C in F" 212 "$(celsius_to_fahrenheit 100)"
expect "32 F in C" 0 "$(fahrenheit_to_celsius 32)"
expect "212 F in C" 100 "$(fahrenheit_to_celsius 212)"

echo "$failures failed"
exit "$failures"
