export { DirectoryModule } from './directory.module.js';
