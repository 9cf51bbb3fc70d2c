#!/usr/bin/env bash
# `@ValidateNested()` of class-validator 0.15.1 rejects null, a text and an object with a missing member, but not a missing object, also where
# the type of the property says that it is required; `@IsString()` and the like reject undefined. A handler that trusts the class reads a
# member of `undefined`, and a request without the object becomes a 500. `@IsDefined()` beside it rejects the request.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund class-validator@0.15.1 class-transformer@0.5.1 reflect-metadata@0.2.2 >/dev/null
cat >run.cjs <<'JS'
require('reflect-metadata');
const { plainToInstance, Type } = require('class-transformer');
const { IsDefined, IsString, ValidateNested, validateSync } = require('class-validator');
class Target {}
IsString()(Target.prototype, 'id');
const classWith = (...decorators) => {
  class Hook {}
  for (const decorate of [Type(() => Target), ...decorators]) decorate(Hook.prototype, 'target');
  return Hook;
};
const classes = [classWith(ValidateNested()), classWith(ValidateNested(), IsDefined())];
for (const body of [{ target: { id: 'x' } }, { target: {} }, { target: 'x' }, { target: null }, {}]) {
  const [nested, defined] = classes.map(
    (type) => validateSync(plainToInstance(type, body), { forbidUnknownValues: true }).length === 0,
  );
  console.log(`${JSON.stringify(body)}: ValidateNested ${nested}, with IsDefined ${defined}`);
}
JS
output=$(node run.cjs)
echo "class-validator $(node -p "require('class-validator/package.json').version")"
echo "$output"
expected='{"target":{"id":"x"}}: ValidateNested true, with IsDefined true
{"target":{}}: ValidateNested false, with IsDefined false
{"target":"x"}: ValidateNested false, with IsDefined false
{"target":null}: ValidateNested false, with IsDefined false
{}: ValidateNested true, with IsDefined false'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
