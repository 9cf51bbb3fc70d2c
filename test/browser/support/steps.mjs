// Steps that build on each other: after a failed step, the rest of its suite is skipped.

/**
 * Runs the suites one after the other, also after a failed one, and counts them together.
 * @typedef {{ steps: Record<string, () => Promise<void>>, failed: () => Promise<void>, end: () => Promise<void> }} Suite
 * @param {Suite[]} suites
 * @returns {Promise<number>} the exit code
 */
export async function runSuites(suites) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const suite of suites) await runSteps(suite, count);
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
  process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`);
  return count.failed > 0 ? 1 : 0;
}

async function runSteps({ steps, failed, end }, count) {
  const names = Object.keys(steps);
  try {
    for (const [n, name] of names.entries()) {
      try {
        await steps[name]();
      } catch (error) {
        count.failed += 1;
        count.skipped += names.length - n - 1;
        process.stdout.write(`✗ ${name}\n  ${error.message.replaceAll('\n', '\n  ')}\n`);
        await failed();
        break;
      }
      count.passed += 1;
      process.stdout.write(`✓ ${name}\n`);
    }
  } finally {
    await end();
  }
}
