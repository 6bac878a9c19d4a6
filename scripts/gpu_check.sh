#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that a machine with a GPU is needed for, as one command of less than 5 minutes:
# builds, runs the CUDA tests, trains the quickstart, times the scans, runs compute-sanitizer. A
# step that fails does not stop the others; the exit code is 1 if any failed. Results go to
# gpu_check.json and all output to gpu_check.log, in $OUT if that is set, else in build/.
#
# Nothing is installed. Where there are no Debian packages, unpack the libraries that scripts/setup
# lists, and what they need, into a folder elsewhere and name that folder in LSSM_DEPS:
#   mkdir deps && cd deps && apt-get download libeigen3-dev libcli11-dev nlohmann-json3-dev \
#     libspdlog-dev libspdlog1.10 libfmt-dev libfmt9 catch2 librandom123-dev libboost-dev \
#     libboost1.74-dev && for package in *.deb; do dpkg -x "$package" .; done
#   LSSM_GPU_CHECK_HOST=1    run on the emulation of CUDA instead of a GPU, with tiny sizes: the
#                            test of this script
#   LSSM_GPU_CHECK_BUILD=D   build in the folder D instead of build/release
#   LSSM_GPU_CHECK_SECONDS=N end after N seconds instead of 290
# shellcheck disable=SC2317  # run() calls the functions by name
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

export host=${LSSM_GPU_CHECK_HOST:-} build=${LSSM_GPU_CHECK_BUILD:-build/release}
export work=$build/gpu_check config=configs/quickstart.json
seconds=${LSSM_GPU_CHECK_SECONDS:-290}
results=${OUT:-build}
rm -rf "$work"
mkdir -p "$work" "$results"

if [[ -n ${LSSM_DEPS:-} ]]; then
  root=$(readlink -f "$LSSM_DEPS")/usr
  export CMAKE_PREFIX_PATH=$root${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
  export CPLUS_INCLUDE_PATH=$root/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH}
  LD_LIBRARY_PATH=$(find "$root/lib" -name '*.so*' -printf '%h\n' | sort -u | tr '\n' ':')${LD_LIBRARY_PATH:-}
  export LD_LIBRARY_PATH
fi
# The toolkit is often there without being in the path, or in it without compute-sanitizer.
if [[ -d /usr/local/cuda/bin ]]; then export PATH=$PATH:/usr/local/cuda/bin; fi
# Warnings are judged by scripts/test, with the compiler it knows; here another nvcc must do too.
export NVCC_APPEND_FLAGS="${NVCC_APPEND_FLAGS:-} -w"
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
if ! command -v python3 >/dev/null; then
  echo "gpu_check: there is no python3" >&2
  exit 1
fi

if [[ -n $host ]]; then
  export folder=$build/test/cuda_on_host
  export lssm=$folder/lssm tests=$folder/test_cuda_on_host
  export timings=$folder/cuda_timings_on_host sizes="2 40 3 2" until=3
  targets="lssm_on_host test_cuda_on_host cuda_timings_on_host"
  # ctest runs the others.
  all_tests="[launch],[train]" scans="[launch]" checked="[launch]"
  # Small enough for the emulation, and learnt to 100 %.
  overrides="--set task.group=S3 --set task.length=6 --set model.width=16 --set train.steps=120
    --set train.batch=16 --set train.valid_sequences=16 --set eval.lengths=[6,24]
    --set eval.sequences=16"
else
  export lssm=$build/bin/lssm tests=$build/test/cuda/test_cuda
  export timings=$build/test/cuda/cuda_timings sizes="64 2048 32 20" until=20
  targets="lssm lssm_cuda test_cuda cuda_timings"
  overrides=
  # Under compute-sanitizer: small shapes, and every kernel.
  all_tests="" scans="cuda scan has the same bits in every run,*integer matrices is exact"
  checked="[op],[layer],[train],[rows],[reduce],[optimizer]"
fi
export targets overrides all_tests scans checked

# note TEXT: the line of the running step in the table.
note() { echo "$*" >"$work/${step:?}.note"; }

# The packages of scripts/setup that dpkg does not have, for one who reads a failure.
missing_packages() {
  local packages package
  command -v dpkg-query >/dev/null || return 0
  packages=$(sed -n '/^packages=(/,/^)/p' scripts/setup | sed '1d; $d; s/#.*//')
  for package in $packages; do
    dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || echo -n " $package"
  done
}

build_all() {
  local tool missing=
  for tool in cmake ninja g++ "$([[ -n $host ]] && echo g++ || echo nvcc)"; do
    command -v "$tool" >/dev/null || missing+=" $tool"
  done
  if [[ -n $missing ]]; then
    note "not in the path:$missing"
    return 1
  fi
  # A folder from a time without nvcc would stay without the backend.
  local options=()
  if [[ -z $host ]]; then options=(-DLSSM_CUDA=ON); fi
  # shellcheck disable=SC2086  # one target a word
  if ! cmake --preset release -B "$build" "${options[@]}" ||
    ! cmake --build "$build" --target $targets; then
    missing=$(missing_packages)
    note "failed${missing:+; these Debian packages are not installed:$missing}"
    return 1
  fi
  note "$targets"
}

device() {
  local reason
  if [[ -z $host ]]; then nvidia-smi || true; fi
  "$lssm" doctor --json >"$work/doctor.json"
  reason=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["cuda_status"])' "$work/doctor.json")
  note "${reason:-lssm can use CUDA}"
  [[ -z $reason ]]
}

# run_tests COMMAND...: the last line of a Catch2 program is its note. Skipped is failed here.
run_tests() {
  local rc=0
  "$@" >"$work/$step.out" 2>&1 || rc=$?
  cat "$work/$step.out"
  note "$(grep -E '^(All tests passed|test cases:|skipped:)' "$work/$step.out" | tail -1)"
  ((rc != 77)) || rc=1
  return "$rc"
}

# shellcheck disable=SC2086  # no word, or one
cuda_tests() { run_tests "$tests" $all_tests; }

# sanitized SUMMARY COMMAND...: compute-sanitizer must say SUMMARY of the tests. Calls of CUDA that
# fail are those of tests of errors.
sanitized() {
  local summary=$1 rc=0
  shift
  if [[ -n $host ]]; then  # the emulation has its own checks, and other orders of the threads
    run_tests env COH_SCHEDULE=priority:1 "$tests" "$checked,$scans"
    return
  fi
  if ! command -v compute-sanitizer >/dev/null; then
    note "there is no compute-sanitizer"
    return 77
  fi
  run_tests "$@" --error-exitcode 9 --kernel-name kns=lssm "$tests" "$checked,$scans" || rc=$?
  if grep -qi "device not supported" "$work/$step.out"; then
    note "compute-sanitizer cannot work on this device"
    return 77
  fi
  echo "$(cat "$work/$step.note"); $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' \
    "$work/$step.out" | tail -1 | sed 's/^=* //')" >"$work/$step.note"
  grep -q "$summary" "$work/$step.out" || return 1
  return "$rc"
}

memcheck() {
  local checker=()
  if [[ -z $host ]]; then checker=(compute-sanitizer --tool memcheck --report-api-errors no); fi
  sanitized "ERROR SUMMARY: 0 errors" "${checker[@]}"
  # A check that sees nothing would pass too.
  if "${checker[@]}" ${checker:+--error-exitcode 9} "$tests" "[planted]"; then
    note "memcheck does not see the planted overrun of a tensor"
    return 1
  fi
}
racecheck() {
  sanitized "RACECHECK SUMMARY: 0 hazards" compute-sanitizer --tool racecheck
}

# train DEVICE RUNS OPTION...
train() {
  # shellcheck disable=SC2086  # one option a word
  "$lssm" train "$config" --quiet --force --set "device=$1" --runs "$work/$2" $overrides "${@:3}"
}

determinism() {
  local run
  for run in first second; do train cuda "$run" --until "$until"; done
  ls -l "$work"/{first,second}/*/*/checkpoint.safetensors
  cmp "$work"/{first,second}/*/*/checkpoint.safetensors
  note "two runs of $until steps end in the same bytes"
}

training() {
  train cpu cpu --json >"$work/cpu.json" &
  cpu=$!  # for the trap, which runs when this function is over
  trap 'kill $cpu 2>/dev/null || true' EXIT
  train cuda cuda --json >"$work/cuda.json"
  wait "$cpu"
  python3 - "$work" >"$work/training.note" <<'END'
import json, sys
cpu, cuda = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("cpu", "cuda"))
assert cuda["device"] == "cuda" and cpu["device"] == "cpu", "a run was on the wrong device"
wrong = []
result = {"train_wall_s": {"cpu": cpu["train_wall_s"], "cuda": cuda["train_wall_s"]}, "final": {}}
lengths = sorted(cuda["test"], key=int)
for length in lengths:
    a, b = cuda["test"][length]["final"], cpu["test"][length]["final"]
    result["final"][length] = {"cpu": b, "cuda": a}
    if a < 0.999 or abs(a - b) > 0.002:
        wrong.append(f"length {length}: {100 * a:.1f} % on CUDA, {100 * b:.1f} % on the CPU")
json.dump(result, open(f"{sys.argv[1]}/training.json", "w"))
print("; ".join(wrong) or "100 % at the lengths {}, as on the CPU; {:.1f} s (CPU {:.1f} s)".format(
    ", ".join(lengths), cuda["train_wall_s"], cpu["train_wall_s"]))
sys.exit(1 if wrong else 0)
END
}

measure() {
  # shellcheck disable=SC2086  # one size a word
  "$timings" "$config" $sizes >"$work/timings.json"
  python3 - "$work/timings.json" >"$work/timings.note" <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
print("{:9} {:9} {:7} {:>9} {:>9} {:>12}".format(
    "group", "direction", "inject", "us", "GB/s", "of copy"), file=sys.stderr)
for r in t["scan"]:
    print("{:9} {:9} {:7} {:9.1f} {:9.1f} {:10.1f} %".format(
        r["group"], r["direction"], "yes" if r["inject"] else "no", 1e3 * r["ms"], r["gb_per_s"],
        100 * r["share_of_copy"]), file=sys.stderr)
share = [100 * r["share_of_copy"] for r in t["scan"]]
print("{}: copy {:.0f} GB/s, scans at {:.0f} to {:.0f} % of it; step {:.2f} ms (CPU {:.2f} ms)".format(
    t["device"], t["copy_gb_per_s"], min(share), max(share), t["training_step"]["cuda_ms"],
    t["training_step"]["cpu_ms"]))
END
}

# The table of registers, of what the build compiled.
ptxas() {
  local rc=0
  if [[ -n $host ]]; then
    note "says nothing of the emulation"
    return 77
  fi
  scripts/ptxas_report "$build" >"$work/ptxas.txt" || rc=$?
  cat "$work/ptxas.txt"
  note "$(tail -1 "$work/ptxas.txt")"
  return "$rc"
}

# run NAME SECONDS FUNCTION
any_failed=0
run() {
  local name=$1 limit=$2 function=$3 start=$SECONDS rc=0 status
  if ((limit > seconds - SECONDS)); then limit=$((seconds - SECONDS)); fi
  printf '== %s (at %d s)\n' "$name" "$SECONDS"
  if ((limit < 3)); then
    rc=124
    echo "no time is left" >"$work/$name.note"
  else
    step=$name timeout -k 5 "$limit" bash -euo pipefail -c "$function" >"$work/$name.log" 2>&1 || rc=$?
  fi
  case $rc in
    0) status=passed ;;
    77) status=skipped ;;
    124 | 137) status="timed out" ;;
    *) status=failed ;;
  esac
  if ((rc != 0 && rc != 77)); then
    any_failed=1
    # What the emulation says of memory that the pool still holds at the end is no part of it.
    grep -v '^coh: leak' "$work/$name.log" 2>/dev/null | tail -25 || true
  fi
  printf '%s\t%s\t%d\t%s\n' "$name" "$status" $((SECONDS - start)) \
    "$(head -1 "$work/$name.note" 2>/dev/null || true)" >>"$work/table"
}
export -f note missing_packages build_all device run_tests cuda_tests sanitized memcheck racecheck
export -f train determinism training measure ptxas

run build 200 build_all
run device 30 device
run tests 90 cuda_tests
run determinism 30 determinism
run training 60 training
run timings 60 measure
run memcheck 80 memcheck
run racecheck 80 racecheck
run ptxas 10 ptxas

for log in "$work"/*.log; do
  echo "== $log"
  grep -v '^coh: leak' "$log" || true
done >"$results/gpu_check.log"
python3 - "$work" "$results/gpu_check.json" <<'END'
import json, os, sys
folder, target = sys.argv[1:]
report = {"on_host": bool(os.environ["host"]), "steps": {}}
for line in open(f"{folder}/table"):
    name, status, seconds, note = line.rstrip("\n").split("\t", 3)
    report["steps"][name] = {"status": status, "seconds": int(seconds), "note": note}
for name in ("doctor", "training", "timings"):
    try:
        report[name] = json.load(open(f"{folder}/{name}.json"))
    except (OSError, ValueError):
        pass  # its step failed
json.dump(report, open(target, "w"), indent=2)
print()
for name, s in report["steps"].items():
    print("{:12} {:10} {:4} s  {}".format(name, s["status"], s["seconds"], s["note"]))
END
echo "$results/gpu_check.json, after $SECONDS s"
exit "$any_failed"
