export { AccountPagesModule } from './account-pages.module.js';
