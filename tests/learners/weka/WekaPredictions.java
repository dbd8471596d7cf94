import java.io.*;
import java.nio.file.*;
import java.util.*;
import weka.classifiers.*;
import weka.core.*;
import weka.core.converters.ArffLoader.ArffReader;

/**
 * Fits Weka's learners on given splits and writes what they predict.
 *
 * Arguments: a folder with NAME.arff and NAME.splits files. A line of a splits file is one split:
 * training rows, a bar, test rows. Printed: one line a set, learner and split, with the predicted
 * labels' codes (in the order of the ARFF header) of the test rows. Only the classes that the
 * training rows hold are declared to the learner.
 */
public class WekaPredictions {
  static final String[][] LEARNERS = {
    {"c4.5", "weka.classifiers.trees.J48", ""},
    {"c4.5-unpruned", "weka.classifiers.trees.J48", "-U"},
    {"c4.5-no-raising", "weka.classifiers.trees.J48", "-S"},
    {"naive-bayes", "weka.classifiers.bayes.NaiveBayes", ""},
    {"tan", "weka.classifiers.bayes.BayesNet", "-D -Q weka.classifiers.bayes.net.search.local.TAN"},
    {"voted-perceptron", "weka.classifiers.functions.VotedPerceptron", ""},
  };

  static int[] codes(String text) {
    return Arrays.stream(text.trim().split(" +")).mapToInt(Integer::parseInt).toArray();
  }

  static boolean covers(String name, Instances data) {
    boolean nominal = true, complete = true;
    for (int a = 0; a < data.numAttributes(); a++) {
      nominal &= data.attribute(a).isNominal();
      complete &= data.attributeStats(a).missingCount == 0;
    }
    if (name.equals("tan")) return nominal && complete;
    if (name.equals("voted-perceptron")) return nominal && complete && data.numClasses() == 2;
    return true;
  }

  /** The rows of data with a class attribute that declares only the given old class codes. */
  static Instances select(Instances data, int[] rows, List<Integer> kept) {
    ArrayList<Attribute> attributes = new ArrayList<>();
    for (int a = 0; a < data.numAttributes() - 1; a++)
      attributes.add((Attribute) data.attribute(a).copy());
    List<String> labels = new ArrayList<>();
    for (int code : kept) labels.add(data.classAttribute().value(code));
    attributes.add(new Attribute("class", labels));
    Instances part = new Instances("part", attributes, rows.length);
    part.setClassIndex(attributes.size() - 1);
    for (int row : rows) {
      double[] cells = data.instance(row).toDoubleArray();
      int at = kept.indexOf((int) cells[cells.length - 1]);
      cells[cells.length - 1] = at < 0 ? Utils.missingValue() : at;
      part.add(new DenseInstance(1.0, cells));
    }
    return part;
  }

  public static void main(String[] args) throws Exception {
    File[] files = new File(args[0]).listFiles((d, n) -> n.endsWith(".arff"));
    Arrays.sort(files);
    PrintStream out = new PrintStream(new BufferedOutputStream(System.out));
    boolean show = args.length > 1;
    for (File file : files) {
      String name = file.getName().replace(".arff", "");
      Instances data = new ArffReader(new FileReader(file)).getData();
      data.setClassIndex(data.numAttributes() - 1);
      List<String> splits = Files.readAllLines(Paths.get(file.getPath().replace(".arff", ".splits")));
      for (String[] learner : LEARNERS) {
        if (!covers(learner[0], data) || show && !args[1].equals(learner[0])) continue;
        for (int s = 0; s < splits.size(); s++) {
          String[] halves = splits.get(s).split("\\|");
          int[] train = codes(halves[0]), test = codes(halves[1]);
          TreeSet<Integer> held = new TreeSet<>();
          for (int row : train) held.add((int) data.instance(row).classValue());
          List<Integer> kept = new ArrayList<>(held);
          if (kept.size() < 2) {
            StringBuilder line = new StringBuilder(name + "\t" + learner[0] + "\t" + s + "\t");
            for (int row : test) line.append(kept.get(0)).append(' ');
            out.println(line.toString().trim());
            continue;
          }
          Classifier model = AbstractClassifier.forName(learner[1], Utils.splitOptions(learner[2]));
          model.buildClassifier(select(data, train, kept));
          if (show) out.println("# split " + s + "\n" + model);
          Instances rows = select(data, test, kept);
          StringBuilder line = new StringBuilder(name + "\t" + learner[0] + "\t" + s + "\t");
          for (Instance row : rows)
            line.append(kept.get((int) model.classifyInstance(row))).append(' ');
          out.println(line.toString().trim());
        }
      }
      out.flush();
    }
  }
}
