export { HolidaysModule } from './holidays.module.js';
export { HolidaysService as HolidaysApi } from './holidays.service.js';
