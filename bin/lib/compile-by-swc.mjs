// `compile-by-swc.mjs <directory of the output> <source>...`: a process of its own, because swc needs the Node of the project, and the
// memory of its binary would stay in a launcher.
import { NO_SWC, print, ROOT } from './prepare.mjs';
import { SwcCompiler } from './swc-compiler.mjs';

const [out, ...names] = process.argv.slice(2);
let compiler;
try {
  compiler = new SwcCompiler(ROOT, out, print);
} catch (error) {
  print(error.message);
  process.exit(NO_SWC);
}
if (!compiler.compileAll(names)) process.exitCode = 1;
