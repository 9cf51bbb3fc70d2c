/** The part of the result of a test file that checks of the whole file read and change. */
export interface FileResult {
  numFailingTests: number;
  testExecError?: unknown;
  testResults: object[];
  failureMessage?: string | null;
}

/** The result with a further test, which failed. */
export function addFailure(result: FileResult, title: string, message: string): FileResult {
  const failed = {
    ancestorTitles: [],
    title,
    fullName: title,
    status: 'failed',
    failureMessages: [message],
    failureDetails: [],
    duration: 0,
    invocations: 1,
    location: null,
    numPassingAsserts: 0,
    retryReasons: [],
  };
  const text = `  ● ${title}\n\n${message.replaceAll(/^/gm, '    ')}\n`;
  return {
    ...result,
    numFailingTests: result.numFailingTests + 1,
    testResults: [...result.testResults, failed],
    failureMessage: `${result.failureMessage ?? ''}${text}`,
  };
}
