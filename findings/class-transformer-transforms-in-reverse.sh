#!/usr/bin/env bash
# class-transformer 0.5.1 runs several `@Transform` of one property in the order in which they are written, from top to bottom. TypeScript
# evaluates decorators of a property from bottom to top, so that the lowest one registers first, and decorators that wrap (as those of
# most libraries, and functions that are composed) apply from the inside, which is the bottom. class-transformer reverses the list of
# what is registered for a property: a decorator that needs the result of another one has to stand below it.
# The same holds where one decorator applies others (`applyDecorators` of Nest, which calls them in the order of its arguments): the
# last argument runs first.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund class-transformer@0.5.1 reflect-metadata@0.2.2 typescript@5.9.3 >/dev/null
cat >run.ts <<'TS'
import 'reflect-metadata';
import { plainToInstance, Transform } from 'class-transformer';

const append = (letter: string) => Transform(({ value }) => `${value}${letter}`);
const both = (...decorators: PropertyDecorator[]): PropertyDecorator => (target, name) => {
  for (const decorate of decorators) decorate(target, name);
};
const evaluated: string[] = [];
const note = (name: string): PropertyDecorator => () => void evaluated.push(name);

class Input {
  @note('upper')
  @append('upper ')
  @note('lower')
  @append('lower ')
  separate!: string;

  @both(append('first '), append('second '))
  applied!: string;
}
const { separate, applied } = plainToInstance(Input, { separate: '', applied: '' });
console.log(`TypeScript evaluates: ${evaluated.join(' ')}`);
console.log(`transforms of two decorators: ${separate}`);
console.log(`transforms that one decorator registers: ${applied}`);
TS
npx tsc --target es2022 --module commonjs --moduleResolution node10 --strict --skipLibCheck --ignoreDeprecations 5.0 \
  --experimentalDecorators run.ts
output=$(node run.js | sed 's/ *$//')
echo "class-transformer $(node -p "require('class-transformer/package.json').version"), TypeScript $(npx tsc --version | cut -d' ' -f2)"
echo "$output"
expected='TypeScript evaluates: lower upper
transforms of two decorators: upper lower
transforms that one decorator registers: second first'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
