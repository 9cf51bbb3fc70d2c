import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';

const SDK = path.resolve(import.meta.dirname, '..', '..', '..', 'sdk');
/** In the package, so that it can import itself by its name. */
const DIRECTORY = path.join(SDK, 'dist', 'examples');

/** A code block of sdk/README.md, and what it prints. */
export interface Example {
  heading: string;
  imports: string[];
  body: string;
  prints: string[];
}

/** @returns the blocks of TypeScript in their order: later ones use the variables of earlier ones */
export function readExamples(): Example[] {
  let heading = '';
  const examples: Example[] = [];
  const text = readFileSync(path.join(SDK, 'README.md'), 'utf8');
  for (const [, title, code] of text.matchAll(/^#+ (.+)$|^```ts\n([\s\S]*?)^```$/gm)) {
    heading = title ?? heading;
    if (code === undefined) continue;
    const lines = code.split('\n');
    const prints = lines.flatMap((line) => /^\/\/ prints: (.*)$/.exec(line)?.[1] ?? []);
    const imports = lines.filter((line) => line.startsWith('import '));
    examples.push({
      heading,
      imports,
      body: lines.filter((line) => !imports.includes(line)).join('\n'),
      prints,
    });
  }
  return examples;
}

/**
 * Runs the examples as one program.
 * @param globals values of names that the examples use, by name
 * @param afterEach runs after each example
 * @returns the lines that each example has printed
 */
export async function runExamples(
  examples: Example[],
  globals: Record<string, unknown>,
  afterEach: (n: number) => Promise<void>,
): Promise<string[][]> {
  const printed: string[][] = examples.map(() => []);
  let current = 0;
  const log = (...values: unknown[]) => printed[current]!.push(format(...values));
  const end = async (n: number): Promise<void> => {
    await afterEach(n);
    current = n + 1;
  };
  const names = [...Object.keys(globals), 'console', 'end'];
  const imports = new Set(examples.flatMap((example) => example.imports));
  const steps = examples.map(({ body }, n) => `${body}\nawait end(${n});`).join('\n');
  const source = `${[...imports].join('\n')}\nexport default async ({ ${names.join(', ')} }: any) => {\n${steps}\n};\n`;
  mkdirSync(DIRECTORY, { recursive: true });
  const file = path.join(DIRECTORY, `${process.pid}.ts`);
  writeFileSync(file, source);
  try {
    const { default: run } = await import(pathToFileURL(file).href);
    await run({ ...globals, console: { log }, end });
  } finally {
    rmSync(file);
  }
  return printed;
}
