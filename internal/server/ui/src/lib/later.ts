// Parts of the first view that it is drawn without: they are loaded when they are asked for, or a while after it.

export const later = {
  logIn: () => import('../views/LogIn.svelte'),
  help: () => import('../parts/Help.svelte'),
  queue: () => import('../parts/QueueList.svelte'),
  fault: () => import('../parts/Fault.svelte'),
  pages: () => import('../parts/Pages.svelte'),
  notes: () => import('../parts/Notes.svelte'),
  removeRun: () => import('../parts/RemoveRun.svelte'),
}
