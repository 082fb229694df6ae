#!/usr/bin/env bash
# Writes proto/gen/python from proto/telha. The output is committed and never edited.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(cd "${VENV:-.venv}/bin" && pwd)
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
# shellcheck disable=SC2046
PATH="$bin:$PATH" "$bin/python" -m grpc_tools.protoc -I proto \
  --python_out="$fresh" --pyi_out="$fresh" --grpc_python_out="$fresh" --mypy_grpc_out="$fresh" \
  $(find proto/telha -name '*.proto' | sort)
# A file without a service leaves nothing for gRPC to do: drop its stubs.
for stub in $(find "$fresh" -name '*_pb2_grpc.py'); do
  grep -q 'class .*Stub' "$stub" || rm -f "$stub" "${stub}i"
done
touch "$fresh/telha/py.typed"
# Only now, when all of it has been written, does it take the place of the old.
mkdir -p proto/gen/python
rm -rf proto/gen/python/telha
mv "$fresh/telha" proto/gen/python/telha
chmod -R u+rwX,go+rX proto/gen/python/telha
