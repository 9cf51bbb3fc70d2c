import { pathToFileURL } from 'node:url';

let imports = 0;

/**
 * Imports a module as its file is now, also if an earlier content is loaded: Node keeps the module of an address until the process
 * ends. The modules that it imports itself stay as they were loaded.
 * @param file an absolute path
 */
export const importCurrent = (file) => import(`${pathToFileURL(file).href}?${(imports += 1)}`);
