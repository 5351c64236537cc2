import { defineConfig } from "vite";
import { slim } from "./vite.slim";

// The report's viewer is one script and one style sheet, which Python writes into every report.
export default defineConfig({
  plugins: [slim()],
  build: {
    outDir: "../src/manipula/reports/web/built",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 750,
    rolldownOptions: {
      input: "src/main.ts",
      output: { format: "es", entryFileNames: "viewer.js", assetFileNames: "viewer.[ext]" },
    },
  },
});
