import { defineConfig } from "vite";
import { slim } from "./vite.slim";

// The page of the studio: one script, one style sheet, served by this machine.
export default defineConfig({
  plugins: [slim()],
  build: {
    outDir: "../src/manipula/reports/web/built",
    emptyOutDir: false, // beside the viewer of reports
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: "src/studio/main.ts",
      output: { format: "es", entryFileNames: "studio.js", assetFileNames: "studio.[ext]" },
    },
  },
});
