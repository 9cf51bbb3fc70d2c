import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Code that is running. */
export interface Place {
  /** The path from the root of the project. */
  file: string;
  /** The file below `dist`, and the class and the method, as far as they have names. */
  name: string;
}

/** @param pattern of paths @returns the first frame of the stack in such a file */
export function callerOf(pattern: RegExp): Place | undefined {
  for (const frame of callSites()) {
    const url = frame.getFileName() ?? '';
    const absolute = url.startsWith('file:') ? fileURLToPath(url) : url;
    const file = absolute.startsWith(ROOT) ? absolute.slice(ROOT.length) : '';
    if (!pattern.test(file)) continue;
    const method = frame.getFunctionName()?.replace(/^.*\./, '') ?? '';
    const short = file.replace(/^dist\/(?:modules\/|platform\/)?/, '').replace(/\.(?:js|ts)$/, '');
    return { file, name: /^[a-zA-Z]\w*$/.test(method) ? `${short}#${method}` : short };
  }
  return undefined;
}

/** The stack without source maps, which would take longer than the statements that are watched. */
function callSites(): NodeJS.CallSite[] {
  const before = {
    stackTraceLimit: Error.stackTraceLimit,
    prepareStackTrace: Reflect.get(Error, 'prepareStackTrace') as unknown,
  };
  Error.stackTraceLimit = 40;
  Error.prepareStackTrace = (_, frames) => frames;
  const frames = new Error('here').stack as unknown as NodeJS.CallSite[];
  Object.assign(Error, before);
  return frames;
}
