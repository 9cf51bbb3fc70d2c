// `npm run build`: compiles src into dist and bundles the programs.
import { build, launch } from './lib/prepare.mjs';

await launch(async () => {
  await build();
  return 0;
});
