export { DirectoryApi, type FoundMember } from './directory.controller.js';
export { DirectoryModule } from './directory.module.js';
