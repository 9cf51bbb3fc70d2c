declare module 'class-transformer/cjs/storage.js' {
  import type { defaultMetadataStorage } from 'class-transformer/types/storage.js';
  const storage: { defaultMetadataStorage: typeof defaultMetadataStorage };
  export default storage;
}
