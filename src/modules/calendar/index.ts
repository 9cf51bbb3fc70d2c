export { CalendarModule } from './calendar.module.js';
export { CalendarPlanningModule } from './planning.module.js';
export { CalendarSchedulingModule } from './scheduling/scheduling.module.js';
export { type FoundInstance, CalendarsApi } from './calendar.api.js';
export { CalendarEvents, type ItemEvent, type MessageDue } from './calendar.events.js';
