// Steps that build on each other: after the first that fails, the rest is skipped.

/**
 * @param {Record<string, () => Promise<void>>} steps
 * @param {{ failed: () => Promise<void>, end: () => Promise<void> }} hooks
 * @returns {Promise<number>} the exit code
 */
export async function runSteps(steps, hooks) {
  const names = Object.keys(steps);
  let passed = 0;
  let failed = 0;
  try {
    for (const name of names) {
      try {
        await steps[name]();
      } catch (error) {
        failed = 1;
        process.stdout.write(`✗ ${name}\n  ${error.message.replaceAll('\n', '\n  ')}\n`);
        await hooks.failed();
        break;
      }
      passed += 1;
      process.stdout.write(`✓ ${name}\n`);
    }
  } finally {
    await hooks.end();
  }
  const skipped = names.length - passed - failed;
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  return failed;
}
