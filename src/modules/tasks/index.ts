export { TaskResponse } from './task.response.js';
export * from './tasks.events.js';
export { TasksApi } from './tasks.api.js';
export { CreateTask, LinkedTask } from './tasks.dto.js';
export { TasksModule } from './tasks.module.js';
