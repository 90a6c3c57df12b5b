# The steps of a test run: every one is run to its end, and what failed is told at the end. To be sourced by bash, with
# `set -euo pipefail`, from the project's folder.
#
#   steps_begin NAME                  # of the script, for its last lines
#   step [OPTION...] COMMAND...       # a command or a function; what it prints is shown, and kept in a log
#   story [OPTION...] COMMAND...      # a step that is run once more where it fails; if it passes then, it is flaky
#   beside NAME FUNCTION              # runs a function of such steps beside what follows, up to `together`
#   await THING                       # waits until something that runs beside has called `give THING`
#   together                          # waits for what runs beside, and shows what it printed
#   remark TEXT                       # a line for the end
#   steps_end                         # says how it went, and exits
#
# Options of both:
#
#   --name NAME       what it is called; by default the command itself
#   --gives THING     what later steps may need, if it passes
#   --needs 'THING…'  without these it is not run, which counts as failed
#   --once            where several functions that run beside each other list it, the first one runs it
#   --each COMMAND    where the step fails, COMMAND LOG STATUS prints a line for each test that failed: its name, a tab, and
#                     the shell command that runs it alone, which may be a function. These are run once more, one after the
#                     other. Where it prints nothing, such as after an error of the compiler, the step as a whole has failed.
#
# A second attempt is alone: what fails while something runs beside it is run once more by `together`.
#
# A script of this kind that another calls, by `part`, adds to the same list and has what was given; the outer one tells it
# all. `AZIMUTH_STEPS` is the folder that they share.

# So long may a whole run take, in seconds: the continuous integration kills it after 90 minutes, and would tell nothing.
: "${AZIMUTH_RUN_SECONDS:=4800}"
# So long may all second attempts of a run take together.
: "${AZIMUTH_AGAIN_SECONDS:=900}"
export AZIMUTH_RUN_SECONDS AZIMUTH_AGAIN_SECONDS

steps_begin() {
  steps_name=$1
  # Where it is a part of another script, this file is there until its steps have come to their end.
  steps_mark=${AZIMUTH_STEPS_MARK:-}
  unset AZIMUTH_STEPS_MARK
  steps_outermost=
  if [ -z "${AZIMUTH_STEPS:-}" ]; then
    steps_outermost=yes
    export AZIMUTH_STEPS=$PWD/tests/artifacts/steps AZIMUTH_BEGAN=$EPOCHSECONDS
    rm -rf -- "$AZIMUTH_STEPS"
    mkdir -p -- "$AZIMUTH_STEPS"
    (cd -- "$AZIMUTH_STEPS" && mkdir begun && touch outcomes given remarks put-off && echo 0 >again)
  fi
  # Of these outcomes none is this script's own.
  steps_before=$(wc -l <"$AZIMUTH_STEPS/outcomes")
  attempted='' shower='' processor=''
  # The process groups that run beside, and by each its name and its log.
  declare -gA beside_names=() beside_logs=()
  trap 'end_all; exit 130' INT TERM
}

story() {
  step --again "$@"
}

step() {
  local name='' gives='' needs='' again='' once='' each=''
  while [[ ${1-} == --* ]]; do
    case $1 in
      --name) name=$2 ;;
      --gives) gives=$2 ;;
      --needs) needs=$2 ;;
      --each) each=$2 ;;
      --again) again=yes && shift && continue ;;
      --once) once=yes && shift && continue ;;
      *) printf 'steps.sh: there is no option %s\n' "$1" >&2 && exit 2 ;;
    esac
    shift 2
  done
  [ -n "$name" ] || name=$*
  processor=''
  if [ -n "$once" ]; then
    local begun=${name//[^A-Za-z0-9._-]/-}
    begun=$AZIMUTH_STEPS/begun/${begun:0:150}
    if ! mkdir -- "$begun" 2>/dev/null; then
      [ -d "$begun" ] || outcome failed 0 "$name" 'it could not be noted that it was begun'
      return 0
    fi
  fi
  local thing
  for thing in $needs; do
    if ! given "$thing"; then
      printf '\n== %s\nnot run, since it needs what failed before: %s\n' "$name" "$thing"
      outcome 'not run' 0 "$name" "it needs what failed before: $thing"
      return 0
    fi
  done
  local left=$((AZIMUTH_BEGAN + AZIMUTH_RUN_SECONDS - EPOCHSECONDS))
  if [ "$left" -lt 1 ]; then
    outcome 'not run' 0 "$name" "the time of the whole run was over"
    return 0
  fi

  local began=$EPOCHSECONDS log
  log=$(new_log "$name")
  printf '\n== %s\n' "$name"
  attempt "$log" "$left" "$@"
  if [ "$status" = 0 ]; then
    give "$gives"
    outcome passed $((EPOCHSECONDS - began)) "$name" ''
    return 0
  fi
  printf '\n%s: this failed: %s\n' "$steps_name" "$name"
  local failures=''
  if [ -n "$each" ] && [ -z "$overdue" ]; then
    failures=$("$each" "$log" "$status" | sort -u)
  fi
  if [ -n "$failures" ]; then
    outcome tests $((EPOCHSECONDS - began)) "$name" ''
    local test command
    while IFS=$'\t' read -r test command; do
      once_more '' "$test" "$log" 0 eval "$command"
    done <<<"$failures"
  elif [ -n "$again" ] && [ -z "$overdue" ]; then
    once_more "$gives" "$name" "$log" $((EPOCHSECONDS - began)) "$@"
  else
    outcome failed $((EPOCHSECONDS - began)) "$name" "$(shown "$log")"
  fi
}

# A script with steps of its own.
part() {
  local mark status=0
  # How it ends, and what failed meanwhile, may be of the steps that run beside it.
  mark=$(mktemp -- "$AZIMUTH_STEPS/part.XXXXXX")
  AZIMUTH_STEPS_MARK=$mark "$@" || status=$?
  if [ -e "$mark" ]; then
    rm -f -- "$mark"
    outcome failed 0 "$*" "it ended with $status, before its steps came to their end"
  fi
}

beside() {
  local name=$1 function=$2 log
  log=$(new_log "beside $name")
  export AZIMUTH_PUT_OFF=yes
  # A process group of its own, so that it can be ended with the scripts that it calls.
  set -m
  (
    set +m
    beside_names=()
    trap 'end_attempt; exit 130' INT TERM
    "$function"
  ) >"$log" 2>&1 </dev/null &
  set +m
  beside_names[$!]=$name
  beside_logs[$!]=$log
}

together() {
  local group status
  for group in $(printf '%s\n' "${!beside_names[@]}" | sort -n); do
    status=0
    wait "$group" || status=$?
    printf '\n== beside the others: %s\n' "${beside_names[$group]}"
    cat -- "${beside_logs[$group]}"
    if [ "$status" != 0 ]; then
      outcome failed 0 "${beside_names[$group]}" "it ended with $status, and not by one of its steps"
    fi
  done
  beside_names=() beside_logs=()
  unset AZIMUTH_PUT_OFF
  local line
  while IFS= read -r line; do
    eval "once_more $line"
  done <"$AZIMUTH_STEPS/put-off"
  : >"$AZIMUTH_STEPS/put-off"
}

remark() {
  printf '%s\n' "$1" >>"$AZIMUTH_STEPS/remarks"
}

steps_end() {
  local bad
  bad=$(count_bad "$steps_before")
  [ -z "$steps_mark" ] || rm -f -- "$steps_mark"
  if [ -n "$steps_outermost" ]; then
    tell "$bad"
  fi
  [ "$bad" = 0 ] || exit 1
  exit 0
}

give() {
  printf '%s\n' "$1" >>"$AZIMUTH_STEPS/given"
}

# What runs beside has to give it whether it fails or not; at the latest the time of the run ends the wait.
await() {
  until given "$1" || [ $((EPOCHSECONDS - AZIMUTH_BEGAN)) -ge "$AZIMUTH_RUN_SECONDS" ]; do sleep 0.5; done
}

# Whether a step that gives this has passed.
given() {
  grep -qxF -- "$1" "$AZIMUTH_STEPS/given"
}

# Runs what failed a second time: what it gives, its name, its first log, how many seconds that took, and the command.
once_more() {
  if [ -n "${AZIMUTH_PUT_OFF:-}" ]; then
    printf '%s\n' "${*@Q}" >>"$AZIMUTH_STEPS/put-off"
    return 0
  fi
  local gives=$1 name=$2 first=$3 seconds=$4 spare log left
  shift 4
  spare=$((AZIMUTH_AGAIN_SECONDS - $(<"$AZIMUTH_STEPS/again")))
  left=$((AZIMUTH_BEGAN + AZIMUTH_RUN_SECONDS - EPOCHSECONDS))
  [ "$left" -ge "$spare" ] || spare=$left
  if [ "$spare" -lt 1 ]; then
    outcome failed "$seconds" "$name" "$(shown "$first"); the time to run it again was over"
    return 0
  fi
  log=$(new_log "$name again")
  printf '\n== once more: %s\n' "$name"
  local began=$EPOCHSECONDS
  attempt "$log" "$spare" "$@"
  echo $((AZIMUTH_AGAIN_SECONDS - spare + EPOCHSECONDS - began)) >"$AZIMUTH_STEPS/again"
  local result=failed
  if [ "$status" = 0 ]; then
    result=flaky
    give "$gives"
  fi
  outcome "$result" $((seconds + EPOCHSECONDS - began)) "$name" "$(shown "$first"), $(shown "$log")"
}

# Runs a command with its output in a log, and shows it. Leaves `status`, `overdue` if it was ended because so many seconds
# were over, and `processor`, the seconds that it and what it waited for kept the processors. What it left running is ended,
# so that it takes no time from what comes next.
attempt() {
  local log=$1 seconds=$2 process
  shift 2
  status=0 overdue='' processor=''
  : >"$log"
  # A process group of its own. The log is a file and no pipe, which a process that stays behind would hold open.
  set -m
  { TIMEFORMAT='%0U %0S' && time "$@" 2>&1; } >"$log" 2>"$log.processor" </dev/null &
  process=$!
  attempted=$process
  set +m
  # In the background, since bash hears a signal while it waits, and not while something runs in front.
  timeout --foreground "$seconds" tail -n +1 -s 0.1 -f --pid="$attempted" -- "$log" &
  shower=$!
  local shown=0
  wait "$shower" || shown=$?
  shower=''
  if [ "$shown" = 124 ]; then
    overdue=yes
    printf '\nended after %d s, since no more time was left\n' "$seconds" | tee -a "$log"
    end_attempt
  fi
  wait "$process" || status=$?
  end_attempt
  [ -z "$overdue" ] || status=124
  processor=$(awk 'NF == 2 { sum = $1 + $2 } END { print sum }' "$log.processor")
  rm -f -- "$log.processor"
}

end_all() {
  local group
  for group in "${!beside_names[@]}"; do
    kill -TERM -- "-$group" 2>/dev/null || true
  done
  end_attempt
}

end_attempt() {
  local group=$attempted
  attempted=''
  [ -z "$shower" ] || kill -TERM "$shower" 2>/dev/null || true
  [ -n "$group" ] && kill -TERM -- "-$group" 2>/dev/null || return 0
  local tries
  for tries in {1..50}; do
    kill -0 -- "-$group" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -KILL -- "-$group" 2>/dev/null || return 0
}

# A line of the list: what came of it, after how many seconds, its name, what else is to be known, and what the last attempt
# took of the processors.
outcome() {
  printf '%s\t%s\t%s\t%s\t%s\n' "$@" "${processor:-}" >>"$AZIMUTH_STEPS/outcomes"
}

# How many failed or were not run since so many outcomes.
count_bad() {
  tail -n +"$(($1 + 1))" "$AZIMUTH_STEPS/outcomes" | awk -F '\t' '$1 == "failed" || $1 == "not run"' | wc -l
}

# A log of this name that is not there yet.
new_log() {
  local name=${1//[^A-Za-z0-9._-]/-} number=''
  name=$AZIMUTH_STEPS/${name:0:150}
  while [ -e "$name$number.log" ]; do number=$((${number:--1} - 1)); done
  : >"$name$number.log"
  printf '%s' "$name$number.log"
}

# A path as seen from the project's folder.
shown() {
  printf '%s' "${1#"$PWD"/}"
}

tell() {
  local bad=$1 seconds=$((EPOCHSECONDS - AZIMUTH_BEGAN)) flaky
  printf '\nWhat it took, and how long that kept a processor:\n'
  awk -F '\t' '$1 != "not run" { printf "%6d s %6d s  %s\n", $2, $5, $3 }' "$AZIMUTH_STEPS/outcomes"
  cat "$AZIMUTH_STEPS/remarks"
  flaky=$(awk -F '\t' '$1 == "flaky" { printf "  %s\n      %s\n", $3, $4 }' "$AZIMUTH_STEPS/outcomes")
  if [ -n "$flaky" ]; then
    printf '\nFlaky, which failed and then passed when run once more alone; a flaky test is a broken test:\n%s\n' "$flaky"
  fi
  if [ "$bad" != 0 ]; then
    printf '\nFailed, or not run:\n'
    tell_failures
    printf '\n%s: failed or not run: %d, in %d min %d s\n' "$steps_name" "$bad" $((seconds / 60)) $((seconds % 60))
  else
    printf '\nAll tests passed, in %d min %d s' $((seconds / 60)) $((seconds % 60))
    [ -z "$flaky" ] || printf '; flaky: %d' "$(grep -c $'^flaky\t' "$AZIMUTH_STEPS/outcomes")"
    printf '\n'
  fi
}

# Each with the last lines of its last log, since whoever reads this may have nothing else of a run.
tell_failures() {
  local result name known log
  # The name may begin with a blank and what is known be empty, so a tab alone must not be blank space here.
  while IFS=$'\x1f' read -r result name known; do
    printf '  %s: %s\n      %s\n' "$result" "$name" "$known"
    log=$(grep -oE '[^ ,;]+\.log' <<<"$known" | tail -n 1 || true)
    [ -f "$log" ] || continue
    tail -n 20 -- "$log" | cut -c -300 | sed 's/^/        | /'
  done < <(awk -F '\t' -v OFS='\x1f' '$1 == "failed" || $1 == "not run" { print $1, $3, $4 }' "$AZIMUTH_STEPS/outcomes")
}

# For `--each`: which tests failed, of `cargo nextest run` with its report in $CARGO_TARGET_DIR, or target. It ends with
# 100 where all ran and some failed.
failed_of_nextest() {
  local report=${CARGO_TARGET_DIR:-target}/nextest/default/junit.xml
  [ "$2" = 100 ] && [ -e "$report" ] || return 0
  awk '
    function attribute(name) { return match($0, " " name "=\"[^\"]*\"") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : "" }
    /<testcase / { test = attribute("name"); binary = attribute("classname") }
    /<(failure|error)[ >]/ {
      printf "%s %s\tcargo nextest run --locked --workspace -E \"binary_id(=%s) & test(=%s)\"\n", binary, test, binary, test
    }' "$report"
}

# The same of `cargo test --no-fail-fast`: it lists what failed of each program, and then says how to run that program. A
# program without a list has crashed.
failed_of_cargo_test() {
  awk '
    /^failures:$/ { count = 0 }
    /^    [^ ]+( - should panic)?$/ { names[count++] = $1 }
    /^test result: ok/ { count = 0 }
    /^error: test failed, to rerun pass `.*`$/ {
      sub(/^[^`]*`/, ""); sub(/`$/, "")
      if (count == 0) printf "all of %s\tcargo test --locked %s\n", $0, $0
      for (at = 0; at < count; at++) printf "%s %s\tpasses_one cargo test --locked %s -- --exact %s\n", $0, names[at], $0, names[at]
      count = 0
    }' "$1"
}

# Runs `cargo test` for one test. A name that fits none, such as one out of the output of a program that crashed, has failed;
# for cargo it has not.
passes_one() {
  "$@" | awk '{ print; fflush() } /^test result: ok\. 1 passed;/ { one = 1 } END { exit !one }'
}
