export { PersonalExportsModule } from './personal-exports.module.js';
export { PersonalErasures } from './erasure/personal-erasures.js';
