#!/usr/bin/env bash
# body-parser 2.4.0 writes its own properties (`body`, `type`, `status`, `statusCode`, `expose`) into the error object that the
# `verify` option throws, by http-errors. An error class that computes one of them by a getter, for example `get body()`, cannot
# take the value: the assignment raises a TypeError after the `try` of body-parser has ended. The callback of the middleware is
# then never called, so the request gets no response, and the TypeError is an uncaught exception of the process.
# One would expect that the error reaches the error handler as it was thrown, or wrapped.
# Remedy: throw a plain Error from `verify`, with the own error as its `cause`.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund body-parser@2.4.0 >/dev/null
cat >run.cjs <<'JS'
const { Readable } = require('node:stream');
const { json } = require('body-parser');
class AppError extends Error {
  get body() {
    return { error: 'rejected' };
  }
}
const request = (thrown) => {
  const text = '{"a":1}';
  const stream = Object.assign(Readable.from([Buffer.from(text)]), {
    headers: { 'content-type': 'application/json', 'content-length': String(text.length) },
  });
  return new Promise((resolve) => {
    const onUncaught = (error) => resolve(`uncaught ${error.name}: ${error.message}`);
    process.once('uncaughtException', onUncaught);
    const verify = () => {
      throw thrown;
    };
    json({ verify })(stream, {}, (error) => {
      process.off('uncaughtException', onUncaught);
      resolve(`next(${error.constructor.name}), type ${error.type}`);
    });
  });
};
(async () => {
  console.log('plain error:', await request(new Error('x')));
  console.log('error with a computed body:', await request(new AppError('x')));
})();
JS
output=$(node run.cjs)
echo "body-parser $(node -p "require('body-parser/package.json').version"), http-errors $(node -p "require('http-errors/package.json').version")"
echo "$output"
expected='plain error: next(Error), type entity.verify.failed
error with a computed body: uncaught TypeError: Cannot set property body of Error which has only a getter'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
