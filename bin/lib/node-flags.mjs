/**
 * How the server's V8 manages memory. By default the young generation grows to several dozen megabytes under load, and with
 * it the resident set to twice what the service needs: measured over the whole benchmark, half a gigabyte. 8 MB is enough for
 * answers that live as long as a request.
 */
export const NODE_FLAGS = ['--max-semi-space-size=8'];
