#!/usr/bin/env bash
# Writes proto/gen/python from proto/telha. The output is committed and never edited.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${VENV:-.venv}/bin
rm -rf proto/gen/python/telha
mkdir -p proto/gen/python
# shellcheck disable=SC2046
PATH="$PWD/$bin:$PATH" "$bin/python" -m grpc_tools.protoc -I proto \
  --python_out=proto/gen/python --pyi_out=proto/gen/python \
  --grpc_python_out=proto/gen/python --mypy_grpc_out=proto/gen/python \
  $(find proto/telha -name '*.proto' | sort)
# A service without rpc leaves nothing for gRPC to do: drop stubs of message-only files.
for stub in $(find proto/gen/python -name '*_pb2_grpc.py'); do
  grep -q 'class .*Stub' "$stub" || rm -f "$stub" "${stub}i"
done
touch proto/gen/python/telha/py.typed
