import { createRequire } from 'node:module';
import path from 'node:path';

/** PouchDB with LevelDB. */
export async function openDevice({ url, database, directory, modules, side }, network) {
  const PouchDB = createRequire(path.join(modules, 'package.json'))('pouchdb');
  const remote = new PouchDB(`${url}/${database}`, { fetch: (...request) => network.fetch(...request) });
  const options = { ...(side.batch && { batch_size: side.batch }) };
  let local;
  const complete = ({ ok, errors }) => {
    if (!ok || errors.length > 0) throw new Error(JSON.stringify(errors));
  };
  const push = async () => complete(await local.replicate.to(remote, options));
  return {
    async first() {
      local = new PouchDB(path.join(directory, 'notes'));
      complete(await local.replicate.from(remote, options));
    },
    count: async () => (await local.info()).doc_count,
    // A device that has been in use has the checkpoint of its pushes.
    prepare: push,
    async edit(count, title) {
      const { rows } = await local.allDocs({ limit: count, include_docs: true });
      for (const { doc } of rows) await local.put({ ...doc, title });
    },
    push,
    close: () => local.close(),
  };
}
