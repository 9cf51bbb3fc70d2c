export { PersonalExportsModule } from './personal-exports.module.js';
