/** The PRODID of our calendars. */
export const PRODUCT = '-//Workspace//Calendar//EN';
