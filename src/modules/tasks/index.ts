export { LINKED_TASKS_CHANGED, type LinkedTaskChange } from './task.hooks.js';
export { TasksModule } from './tasks.module.js';
