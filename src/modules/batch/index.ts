export { BatchModule } from './batch.module.js';
