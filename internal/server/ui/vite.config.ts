import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

// The page is served below a strict content security policy: nothing is inlined into
// index.html, and nothing is made of strings. Names of files follow from what is in them
// alone, so that equal sources give equal bytes.
export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [svelte()],
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  build: {
    target: 'es2022',
    outDir: process.env.UI_OUT ?? 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // The names of what each view imports would be a part of the first view: views are fetched before they are asked for.
    modulePreload: { polyfill: false, resolveDependencies: (_f, deps, { hostType }) => (hostType === 'html' ? deps : deps.filter((d) => d.endsWith('.css'))) },
    reportCompressedSize: true,
    rolldownOptions: {
      output: {
        // What every view needs is one file: it is smaller than several.
        codeSplitting: { groups: [{ name: 'page', test: /node_modules|src.(lib.(visible|follow)|api.(client|routes)|stores.session)/, minShareCount: 8 }] },
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  server: { proxy: { '/api': process.env.UI_API ?? 'http://127.0.0.1:8675' } },
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'] },
}))
