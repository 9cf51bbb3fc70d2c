export { CalendarModule } from './calendar.module.js';
export { CalendarPlanningModule } from './planning.module.js';
export { CalendarSchedulingModule } from './scheduling/scheduling.module.js';
