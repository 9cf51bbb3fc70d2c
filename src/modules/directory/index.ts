export { DirectoryApi, type FoundMember } from './directory.api.js';
export { DirectoryModule } from './directory.module.js';
